diff .env a.txt
