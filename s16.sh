git stash show -p; git show HEAD
