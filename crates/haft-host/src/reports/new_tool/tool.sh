#!/bin/sh
# What the tool "{name}" does. The arguments come as one JSON object on the input. The output is the result,
# text or one JSON value. Errors (>&2) go to the log. To fail: print {"error": "what is wrong"}, or exit 1.
set -eu
input=$(tr '\n' ' ')

# Prints the argument NAME, a text. It understands quotes, line ends and tabs; for lists and numbers use jq or Python.
argument() {
    raw=$(printf '%s' "$input" | sed -n 's/.*"'"$1"'" *: *"\([^"\\]*\(\\.[^"\\]*\)*\)".*/\1/p' | sed 's/\\"/"/g')
    printf '%b' "$raw"
}

text=$(argument text)
unit=$(argument unit)

if [ "$unit" = lines ]; then
    count=$(printf '%s' "$text" | awk 'END { print NR }')
else
    count=$(printf '%s' "$text" | wc -w)
fi
printf '{"unit": "%s", "count": %d}\n' "${unit:-words}" "$count"
