node -e "console.log(require('fs').readFileSync('.env','utf8'))"
