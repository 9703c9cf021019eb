# Serves haft's shell snippets: a line "NUMBER FOLDER CODE" on descriptor 3, in words that bash quotes.
haft_first=true
while IFS= read -r -u 3 haft_order; do
    eval "haft_words=($haft_order)"
    # The folder is another one for every snippet, although its path stays the same.
    cd -- "${haft_folder:-${haft_words[1]}}" 2>/dev/null || cd -- "${haft_words[1]}"
    eval "${haft_words[2]}" 3>&- </dev/null
    haft_status=$?
    haft_folder=$PWD
    cd /
    printf '{"call":%s,"status":%s,"first":%s}\n' "${haft_words[0]}" "$haft_status" "$haft_first" >&3
    haft_first=false
done
