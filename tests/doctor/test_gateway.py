import pytest

from headgate.doctor.gateway import is_running


@pytest.mark.parametrize("url", ["http://x y", "http://x:port", "https://127.0.0.1:1"])
def test_an_address_that_nobody_could_ask_is_told(url):
    runs, says = is_running(url)

    assert not runs
    assert says.startswith(f"nothing answers at {url} (")
