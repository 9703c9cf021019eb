awk '{print}' .env
