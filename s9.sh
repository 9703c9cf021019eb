grep -rh --include=.env '' .
