"""Language models: who has which configuration, its key, and the LangChain model made of it.

    tables.py      our tables in gns3-server's database
    migrations/    their history, apart from gns3-server's own
    keys.py        encrypts the API keys of configurations
    key_file.py    changes the file with those keys
    rotation.py    puts a new key in the place of the old one
    config.py      a configuration, as stored and as a turn uses it
    store.py       reads and writes configurations
    rows.py        their rows: read, locked, changed
    merge.py       what a change comes to, together with what is stored
    preferences.py what users have chosen: default and modes
    policies.py    what groups allow their members
    inheritance.py all that one user may use, own and inherited
    resolve.py     which configuration a turn uses
    usage.py       how much was used
    providers/     one module for each provider: from a configuration to its LangChain client
    factory.py     the model of a turn, cached
    tokens.py      counts tokens without a network
    offline/       the built-in model

Importing any of these but `factory`, `offline` and the modules of `providers` is cheap: no LangChain, no tiktoken.
"""
