cp .env copy.txt; cat copy.txt
