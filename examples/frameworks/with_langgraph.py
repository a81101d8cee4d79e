"""A bare langgraph: the node that asks the model sends what the gate shows."""

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import SecretStr
from stand_in import QUESTION, host_log, provider
from with_langchain import reader, shown

from headgate import Gate, Policy, tokens


def main() -> None:
    """Ask one question."""
    gate = Gate(Policy(result=tokens(220), batch=tokens(400)), session="frameworks")
    with provider("OPENAI_BASE_URL") as url:
        tools: list[BaseTool] = [tool(host_log), reader(gate)]
        model = ChatOpenAI(model="gpt-5.1", base_url=url, api_key=SecretStr("key")).bind_tools(
            tools
        )

        def ask(state: MessagesState) -> dict[str, list[AnyMessage]]:
            return {"messages": [model.invoke(shown(gate, state["messages"]))]}

        graph = StateGraph(MessagesState)
        graph.add_node("ask", ask)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "ask")
        graph.add_conditional_edges("ask", tools_condition)
        graph.add_edge("tools", "ask")
        graph.compile().invoke({"messages": [HumanMessage(QUESTION)]})


if __name__ == "__main__":
    main()
