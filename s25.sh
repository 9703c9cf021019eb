python3 -c "import json;print(json.dumps(open('.env').read()))"
