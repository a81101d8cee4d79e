import gc

from headgate.gateway.launch import COLLECTED_AT, pause_seldom


def test_no_request_waits_while_what_is_loaded_is_walked_over():
    before = gc.get_threshold()
    try:
        pause_seldom()

        assert gc.get_freeze_count() > len(gc.get_objects())
        assert gc.get_threshold() == COLLECTED_AT
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
