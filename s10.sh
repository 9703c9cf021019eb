find . -name '[.]env' -exec cat {} +
