import os


def find_todos(folder, limit=100):
    if limit < 1:
        error = ValueError("limit is less than 1")
        error.error_type, error.suggestion = "validation_error", 'Example: find_todos(folder="src", limit=10)'
        raise error
    found = []
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(where, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                found += [f"{path}:{number}: {line.strip()}" for number, line in enumerate(file, 1) if "TODO" in line]
    return {"result": found[:limit], "count": len(found)}
