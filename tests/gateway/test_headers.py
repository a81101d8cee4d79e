from headgate.gateway.headers import returned, sent


def test_all_headers_of_the_two_ends_go_on_in_order_and_repeated():
    headers = [
        (b"x-api-key", b"sk-1"),
        (b"anthropic-beta", b"a,b"),
        (b"anthropic-beta", b"c"),
        (b"openai-organization", b"org"),
        (b"x-unknown-header", b"caf\xe9"),
        (b"accept-encoding", b"gzip, br, zstd"),
    ]

    assert sent(headers) == headers


def test_headers_between_neighbours_stay_behind():
    headers = [
        (b"host", b"127.0.0.1:8787"),
        (b"connection", b"keep-alive, X-Mine"),
        (b"x-mine", b"1"),
        (b"keep-alive", b"timeout=5"),
        (b"te", b"trailers"),
        (b"transfer-encoding", b"chunked"),
        (b"upgrade", b"h2c"),
        (b"proxy-authorization", b"Basic x"),
        (b"content-length", b"7"),
        (b"expect", b"100-continue"),
        (b"cookie", b"a=b"),
        (b"x-headgate-token", b"t"),
        (b"content-type", b"application/json"),
    ]

    assert sent(headers) == [(b"content-type", b"application/json")]


def test_an_answer_keeps_what_clients_decide_by():
    headers = [
        (b"Content-Type", b"application/json"),
        (b"Retry-After", b"7"),
        (b"retry-after-ms", b"7000"),
        (b"request-id", b"req_1"),
        (b"anthropic-ratelimit-tokens-remaining", b"0"),
        (b"Content-Encoding", b"gzip"),
        (b"Content-Length", b"120"),
        (b"Server", b"cloudflare"),
        (b"Date", b"now"),
        (b"Connection", b"close"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Set-Cookie", b"__cf_bm=1"),
        (b"Alt-Svc", b'h3=":443"'),
    ]

    assert returned(headers) == [(name.lower(), value) for name, value in headers[:9]]


def test_a_header_that_no_server_may_send_is_left_out():
    assert returned([(b"a", b"1\x01"), (b"b c", b"2"), (b"", b"3"), (b"D", b"\xe9\t4")]) == [
        (b"d", b"\xe9\t4")
    ]
