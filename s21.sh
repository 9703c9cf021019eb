cat link
