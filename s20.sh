rg --hidden cnry
