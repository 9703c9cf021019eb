set -a; . ./.env; env | grep KEY
