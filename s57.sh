echo "$(cat .env)"
