// TODO: read the port from the settings
const port = 8080;
console.log(port);
