"""Events as the CLIs write them, with the keys and shapes that the real programs used."""

import json

from headgate.testing import lines

SESSION = "17dade7f-8ef0-4057-abc9-188a073ccc4e"


def claude_code(response, tool="Bash", home="/home/u", **other):
    return {
        "session_id": SESSION,
        "transcript_path": f"{home}/.claude/projects/-work/{SESSION}.jsonl",
        "cwd": "/work",
        "prompt_id": "a74c1054-d384-4285-b731-a80e1d241a20",
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": {"command": "make", "description": "build"},
        "tool_response": response,
        "tool_use_id": "toolu_01",
        "duration_ms": 54,
        **other,
    }


def bash(stdout, stderr="", **other):
    """What Claude Code's Bash gives."""
    return {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False, **other}


def codex(response, tool="Bash", **other):
    return {
        "session_id": SESSION,
        "turn_id": "01a1ddb3-2637-7ce0-969b-92af8b26d74a",
        "transcript_path": "/home/u/.codex/sessions/2026/11/15/rollout.jsonl",
        "cwd": "/work",
        "hook_event_name": "PostToolUse",
        "model": "gpt-5.1",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": {"command": "make"},
        "tool_response": response,
        "tool_use_id": "call_01",
        **other,
    }


def gemini(content, tool="run_shell_command", home="/home/u", **other):
    return {
        "session_id": SESSION,
        "transcript_path": f"{home}/.gemini/tmp/work/chats/session-2026.jsonl",
        "cwd": "/work",
        "hook_event_name": "AfterTool",
        "timestamp": "2026-11-15T05:34:34.432Z",
        "tool_name": tool,
        "tool_input": {"command": "make", "description": "build"},
        "tool_response": {"llmContent": content, "returnDisplay": ""},
        **other,
    }


def opencode(output, tool="bash", **other):
    return {
        "hook_event_name": "tool.execute.after",
        "session_id": "ses_e224c5d62ffeDIy6CkIzwbUUOl",
        "tool_use_id": "call_01",
        "tool_name": tool,
        "tool_input": {"command": "make", "description": "build"},
        "tool_response": output,
        "is_error": False,
        **other,
    }


BIG = lines(4_000, n2000="ERROR: replica lag 9321ms")
"""About 40,000 tokens, with one line that matters in the middle."""


def raw(event) -> bytes:
    """As it stands on stdin."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
