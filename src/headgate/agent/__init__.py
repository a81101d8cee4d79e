"""A small agent loop on the registry and the gate, for those who have none."""

from headgate.agent.agent import AsyncAgent
from headgate.agent.blocking import Agent
from headgate.agent.chat import OpenAIChatModel
from headgate.agent.conversation import Conversation, WentOnElsewhere
from headgate.agent.ladder import Overflowed
from headgate.agent.messages import AnthropicModel
from headgate.agent.responses import OpenAIResponsesModel
from headgate.agent.turn import AgentEvent, Answered, Called, Turn
from headgate.model import Model, ModelError, Reply, Said, WindowExceeded

__all__ = [
    "Agent",
    "AgentEvent",
    "Answered",
    "AnthropicModel",
    "AsyncAgent",
    "Called",
    "Conversation",
    "Model",
    "ModelError",
    "OpenAIChatModel",
    "OpenAIResponsesModel",
    "Overflowed",
    "Reply",
    "Said",
    "Turn",
    "WentOnElsewhere",
    "WindowExceeded",
]
