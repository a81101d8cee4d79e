"""What the tests of batches share."""

from headgate.events import CallEnded

WAIT_S = 5

UNKNOWN = (
    "Its outcome is unknown: it may or may not have taken effect. "
    "Do not repeat it blindly; first find out how things stand."
)


def texts(results):
    return [result.text for result in results]


def ended(events):
    return {event.call_id: event.end for event in events if isinstance(event, CallEnded)}
