xargs -a .env -n1 echo
