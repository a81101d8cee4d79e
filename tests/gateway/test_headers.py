from headgate.gateway.headers import returned, secrets_of, sent, without_secrets


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


def test_keys_are_known_by_the_names_they_are_sent_under():
    headers = [
        (b"authorization", b"Bearer sk-ant-oat01"),
        (b"x-goog-api-key", b"AIzaSecret"),
        (b"x-headgate-token", b"our-token"),
        (b"content-type", b"application/json"),
        (b"x-api-key", b"short"),
    ]

    assert secrets_of(headers, "key=AIza%2BQuery&alt=sse") == {
        "Bearer sk-ant-oat01",
        "sk-ant-oat01",
        "Bearer",
        "AIzaSecret",
        "our-token",
        "AIza+Query",
    }


def test_secrets_are_left_out_of_what_is_told():
    text = "cannot ask https://host/v1?key=AIzaQuery with AIzaQuery2"

    assert without_secrets(text, {"AIzaQuery", "AIzaQuery2"}) == (
        "cannot ask https://host/v1?key=[secret] with [secret]"
    )
