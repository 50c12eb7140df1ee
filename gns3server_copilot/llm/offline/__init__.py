"""The built-in model: no network, no key, rules instead of a language model.

model.py         the LangChain chat model: streams, calls tools, reports usage
conversation.py  what the rules read out of the messages: the question, tool results, the lab
requests.py      the kinds of request that the model understands
slash.py         reads slash commands
sentences.py     reads plain sentences that ask for the same things
plan.py          from a request to tool calls, and what to do with their results
abilities.py     which tool each request needs, and why one cannot be had
wording.py       tool results in words and tables
markdown.py      lab text inside Markdown, where it can do no harm
texts.py         what the model says about itself
"""

from gns3server_copilot.llm.offline.model import OfflineChatModel

__all__ = ["OfflineChatModel"]
