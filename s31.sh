paste .env a.txt
