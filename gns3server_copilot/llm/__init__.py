"""Language models: who has which configuration, its key, and the LangChain model made of it.

    tables.py      our tables in gns3-server's database
    migrations/    their history, apart from gns3-server's own
    keys.py        encrypts the API keys of configurations
    config.py      a configuration, as stored and as a turn uses it
    store.py       reads and writes configurations
    resolve.py     which configuration a turn uses
    providers/     one module for each provider: from a configuration to its LangChain client
    factory.py     the model of a turn, cached
    tokens.py      counts tokens without a network
    offline/       the built-in model

Importing any of these but `factory`, `offline` and the modules of `providers` is cheap: no LangChain, no tiktoken.
"""
