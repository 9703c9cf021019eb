gzip -c .env | zcat
