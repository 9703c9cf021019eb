tee /dev/stderr < .env
