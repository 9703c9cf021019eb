comm .env a.txt
