source .env; echo $API_KEY
