jq -R . .env
