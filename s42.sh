export $(grep API_KEY .env); echo "$API_KEY" >&2
