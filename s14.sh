git grep -h cnry
