"""Serves one package to cargo, npm and pip on the loopback while a command runs, and says what was asked for."""

import base64
import hashlib
import http.server
import io
import json
import subprocess
import sys
import tarfile
import threading
import zipfile

PORT = 8901


def archive(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return made.getvalue()


crate = archive(
    {
        "tinydep-0.1.0/Cargo.toml": '[package]\nname = "tinydep"\nversion = "0.1.0"\nedition = "2021"\n',
        "tinydep-0.1.0/src/lib.rs": "pub fn answer() -> u8 { 42 }\n",
    }
)
row = {"name": "tinydep", "vers": "0.1.0", "deps": [], "features": {}, "yanked": False}
row["cksum"] = hashlib.sha256(crate).hexdigest()
described = {"name": "tinydep", "version": "0.1.0", "bin": {"tinydep": "run.js"}}
package = archive(
    {
        "package/package.json": json.dumps(described),
        "package/run.js": "#!/usr/bin/env node\nconsole.log(42)\n",
    }
)
integrity = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
WHEEL = "tinydep-0.1.0-py3-none-any.whl"
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as made:
    about = "tinydep-0.1.0.dist-info/"
    made.writestr("tinydep.py", "answer = 42\n")
    made.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: tinydep\nVersion: 0.1.0\n")
    made.writestr(about + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    made.writestr(about + "RECORD", "")
here = "http://127.0.0.1:%d" % PORT
version = dict(described, dist={"tarball": here + "/npm/t.tgz", "integrity": integrity})
answers = {
    "/index/config.json": json.dumps({"dl": here + "/dl"}).encode(),
    "/index/ti/ny/tinydep": json.dumps(row).encode(),
    "/dl/tinydep/0.1.0/download": crate,
    "/npm/tinydep": json.dumps(
        {"name": "tinydep", "dist-tags": {"latest": "0.1.0"}, "versions": {"0.1.0": version}}
    ).encode(),
    "/npm/t.tgz": package,
    "/simple/tinydep/": ('<a href="%s/%s">%s</a>' % (here, WHEEL, WHEEL)).encode(),
    "/" + WHEEL: packed.getvalue(),
}
asked = []


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = answers.get(self.path)
        asked.append(self.path)
        self.send_response(200 if body else 404)
        if self.path.startswith("/simple"):
            self.send_header("Content-Type", "text/html")
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
status = subprocess.call(sys.argv[1:])
print("asked:", *asked)
sys.exit(status)
