zip -q x.zip .env && unzip -p x.zip
