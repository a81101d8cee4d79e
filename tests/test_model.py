from headgate import Media, Text, ToolResult
from headgate.model import ModelError, content_of, object_in, text_in, with_settings


def test_a_result_without_images_is_a_text():
    assert content_of(ToolResult.of("ls", [Text("a"), Text("b")], call_id="c")) == "a\nb"


def test_a_result_with_images_is_a_list_in_its_order():
    image = {"type": "image"}
    seen = ToolResult.of("see", [Media("image", image), Text("a")], call_id="c")

    assert content_of(seen) == [image, {"type": "text", "text": "a"}]
    assert content_of(seen, "input_text") == [image, {"type": "input_text", "text": "a"}]


def test_what_is_not_there_or_of_another_type_is_empty():
    carrier = {"object": {"a": 1}, "text": "x", "number": 1}

    assert [object_in(carrier, name) for name in ("object", "text", "none")] == [{"a": 1}, {}, {}]
    assert [text_in(carrier, name) for name in ("text", "number", "none")] == ["x", "", ""]


def test_an_error_of_a_model_has_a_code_where_the_provider_gives_one():
    assert (str(ModelError("no", "overloaded")), ModelError("no").code) == ("no", "")


def test_settings_add_fields_take_them_out_and_put_tools_behind_ours():
    body = {"model": "m", "cache": 1, "system": None, "tools": [{"name": "ls"}]}

    assert with_settings(body, {"cache": None, "top_p": 1, "tools": [{"type": "web_search"}]}) == {
        "model": "m",
        "tools": [{"name": "ls"}, {"type": "web_search"}],
        "top_p": 1,
    }
    assert with_settings({"tools": []}, {}) == {}
