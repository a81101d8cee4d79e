import tempfile

from headgate.gateway.counters import CELLS, METRICS, Counters, as_json, as_metrics


def test_each_number_has_a_place_of_its_own():
    assert sorted(CELLS.values()) == list(range(len(CELLS)))
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_numbers_add_up():
    counters = Counters()
    counters.add("requests", "gemini")
    counters.add("requests", "gemini", 4)
    counters.add("requests", "other")

    assert as_json(counters)["requests"] == {
        "anthropic": 0,
        "openai-chat": 0,
        "openai-responses": 0,
        "gemini": 5,
        "other": 1,
    }


def test_workers_see_the_sum_of_all():
    with tempfile.TemporaryFile() as file:
        parent = Counters(3, file=file)
        for row in range(3):
            Counters(3, file=file, row=row).add("fixes", count=row + 1)

        assert parent.sum("fixes") == 6


def test_what_a_dead_worker_had_under_way_is_forgotten():
    with tempfile.TemporaryFile() as file:
        parent = Counters(2, file=file)
        for row in range(2):
            worker = Counters(2, file=file, row=row)
            worker.add("in_flight", count=5)
            worker.add("fixes")
        parent.clear_gauges(1)

        assert (parent.sum("in_flight"), parent.sum("fixes")) == (5, 2)


def test_a_gauge_does_not_fall_below_nothing():
    counters = Counters()
    counters.add("in_flight", count=-1)

    assert counters.sum("in_flight") == 0


def test_times_are_counted_by_how_long_they_are():
    counters = Counters()
    for seconds in (0.0004, 0.001, 0.0011, 0.3, 99):
        counters.time("prepare_seconds", seconds)

    assert as_json(counters)["prepare_seconds"] == {
        "count": 5,
        "sum": 99.3025,
        "buckets": {
            **dict.fromkeys(["0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "5"], 0),
            "0.001": 2,
            "0.0025": 1,
            "1": 1,
            "+Inf": 1,
        },
    }


def test_metrics_are_in_the_words_of_prometheus():
    counters = Counters()
    counters.add("refused", "host", 2)
    counters.time("added_seconds", 0.004)
    text = as_metrics(counters)

    assert "# TYPE headgate_gateway_refused_total counter\n" in text
    assert 'headgate_gateway_refused_total{reason="host"} 2\n' in text
    assert "\nheadgate_gateway_in_flight 0\n" in text
    assert 'headgate_gateway_added_seconds_bucket{le="0.0025"} 0\n' in text
    assert 'headgate_gateway_added_seconds_bucket{le="0.005"} 1\n' in text
    assert 'headgate_gateway_added_seconds_bucket{le="+Inf"} 1\n' in text
    assert "headgate_gateway_added_seconds_sum 0.004\n" in text
    assert "headgate_gateway_added_seconds_count 1\n" in text
