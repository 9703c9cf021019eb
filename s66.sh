ed -s .env <<< ',p'
