"""What OpenAI remembers of earlier responses, and which items belong together because of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headgate.testing.answers import Json, objects
from headgate.testing.mint import Sealer
from headgate.testing.refused import Refused
from headgate.testing.wording_openai import duplicate_item, without_following, without_reasoning

NOT_FOUND = (
    "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try "
    "again with `store` set to true, or remove this item from your input."
)


class ResponsesStore:
    """Keeps responses by id, every item by id, and the reasoning each item came from."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer
        self._bodies: dict[str, Json] = {}
        self._items_of: dict[str, list[Json]] = {}
        self._items: dict[str, Json] = {}
        self._reasoning_of: dict[str, str] = {}
        self._product_of: dict[str, str] = {}

    def keep(self, body: Json, items: Sequence[Json]) -> None:
        """Remember a response, and `items`: all it was asked, and all it said."""
        id_ = str(body["id"])
        self._bodies[id_] = body
        self._items_of[id_] = list(items)
        reasoning = ""
        for item in objects(body["output"]):
            name = str(item.get("id"))
            self._items[name] = item
            if item.get("type") == "reasoning":
                reasoning = name
            elif reasoning:
                self._reasoning_of[name] = reasoning
                self._product_of.setdefault(reasoning, name)

    def body(self, id_: str) -> Json:
        """A response as it was given."""
        if id_ not in self._bodies:
            raise Refused(404, f"Response with id '{id_}' not found.")
        return self._bodies[id_]

    def forget(self, id_: str) -> Json:
        """Delete a response; its items stay known as long as the stand-in lives."""
        self.body(id_)
        del self._bodies[id_], self._items_of[id_]
        return {"id": id_, "object": "response", "deleted": True}

    def whole_input(self, body: Mapping[str, object]) -> list[Json]:
        """Everything the model reads: what is stored, then what was sent, references resolved."""
        sent = body.get("input")
        new: list[Json] = (
            [{"role": "user", "content": sent}]
            if isinstance(sent, str)
            else [self._resolved(item) for item in objects(sent)]
        )
        previous = body.get("previous_response_id")
        if previous is None:
            return new
        if previous not in self._items_of:
            message = f"Previous response with id '{previous}' not found."
            code = "previous_response_not_found"
            raise Refused(400, message, code=code, param="previous_response_id")
        stored = self._items_of[str(previous)]
        known = {item.get("id") for item in stored if item.get("id")}
        for item in new:
            if item.get("id") in known:
                raise duplicate_item(item.get("id"))
        return [*stored, *new]

    def check_reasoning(self, items: Sequence[Json]) -> None:
        """Refuse reasoning apart from what it produced, and seals that are not ours."""
        seen: set[object] = set()
        for item, after in _with_next(items):
            id_ = str(item.get("id", ""))
            needs = self._reasoning_of.get(id_)
            if needs is not None and needs not in seen:
                raise without_reasoning(id_, item.get("type"), needs)
            if item.get("type") == "reasoning":
                self._check_seal(item)
                product = self._product_of.get(id_)
                if product is not None and (after is None or after.get("id") != product):
                    raise without_following(id_)
            seen.add(item.get("id"))

    def _check_seal(self, item: Json) -> None:
        sealed, id_ = item.get("encrypted_content"), item.get("id")
        if sealed is None and id_ is not None and id_ not in self._items:
            raise Refused(404, NOT_FOUND.format(id=id_), param="input")
        if sealed is not None and self._sealer.open(sealed) is None:
            message = f"The encrypted content for item {id_} could not be verified."
            raise Refused(400, message, code="invalid_encrypted_content")

    def _resolved(self, item: Json) -> Json:
        if item.get("type") != "item_reference":
            return item
        id_ = str(item.get("id"))
        if id_ not in self._items:
            raise Refused(404, NOT_FOUND.format(id=id_), param="input")
        return self._items[id_]


def _with_next(items: Sequence[Json]) -> Iterator[tuple[Json, Json | None]]:
    return zip(items, [*items[1:], None], strict=False)
