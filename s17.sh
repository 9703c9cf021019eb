git cat-file -p HEAD:.env
