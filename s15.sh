git grep -h . HEAD
