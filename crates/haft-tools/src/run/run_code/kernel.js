// Serves haft's snippets of JavaScript: one JSON object per line on descriptor 3.
"use strict";
(() => {
  const fs = require("fs");
  const util = require("util");
  const inspector = require("inspector");
  const session = new inspector.Session();
  session.connect();
  const post = (method, params) =>
    new Promise((resolve, reject) =>
      session.post(method, params, (error, result) => (error ? reject(error) : resolve(result))),
    );

  let rest = Buffer.alloc(0);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  // Between snippets nothing runs: waiting blocks the process.
  const readLine = () => {
    for (;;) {
      const end = rest.indexOf(10);
      if (end >= 0) {
        const line = rest.subarray(0, end).toString("utf8");
        rest = rest.subarray(end + 1);
        return line;
      }
      const piece = Buffer.alloc(65536);
      try {
        const read = fs.readSync(3, piece, 0, piece.length, null);
        if (read === 0) return null;
        rest = Buffer.concat([rest, piece.subarray(0, read)]);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
        Atomics.wait(pause, 0, 0, 5);
      }
    }
  };
  const send = (message) => {
    let bytes = Buffer.from(JSON.stringify(message) + "\n");
    while (bytes.length > 0) {
      try {
        bytes = bytes.subarray(fs.writeSync(3, bytes));
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
        Atomics.wait(pause, 0, 0, 5);
      }
    }
  };

  let images = [];
  let tables = [];
  const isTable = (value) =>
    Array.isArray(value) && value.length > 0 && value.every((row) => row && Object.getPrototypeOf(row) === Object.prototype);
  const show = (value) => {
    if (value === undefined) return;
    if (Buffer.isBuffer(value) && (value[0] === 0x89 || value[0] === 0xff) && value.length > 100) {
      images.push(value.toString("base64"));
      return;
    }
    if (isTable(value)) {
      const rows = value.slice(0, 50);
      const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
      tables.push({ columns, rows: rows.map((row) => columns.map((column) => row[column] ?? null)), all_rows: value.length });
    }
    console.log(typeof value === "string" ? value : util.inspect(value, { depth: 4, maxArrayLength: 100, breakLength: 120 }));
  };
  globalThis.display = show;
  process.on("uncaughtException", (error) => console.error(error));
  process.on("unhandledRejection", (error) => console.error(error));

  const run = async (order, globals) => {
    const answer = await post("Runtime.evaluate", { expression: order.code, replMode: true, awaitPromise: true });
    const thrown = answer.exceptionDetails;
    if (thrown) {
      const value = thrown.exception;
      console.error((value && (value.description || util.inspect(value.value))) || thrown.text);
      return 1;
    }
    const { objectId, value, unserializableValue, type } = answer.result;
    if (type === "undefined") return 0;
    const argument = objectId ? { objectId } : unserializableValue ? { unserializableValue } : { value };
    await post("Runtime.callFunctionOn", {
      functionDeclaration: "function (value) { globalThis._ = value; this.display(value); }",
      objectId: globals,
      arguments: [argument],
    });
    return 0;
  };

  (async () => {
    const globals = (await post("Runtime.evaluate", { expression: "globalThis" })).result.objectId;
    let folder = null;
    let first = true;
    for (;;) {
      const line = readLine();
      if (line === null) process.exit(0);
      const order = JSON.parse(line);
      // The folder is another one for every snippet, although its path stays the same.
      try {
        process.chdir(folder ?? order.folder);
      } catch {
        process.chdir(order.folder);
      }
      if (first) globalThis.require = require("module").createRequire(order.folder + "/snippet.js");
      [images, tables] = [[], []];
      let status = 1;
      try {
        status = await run(order, globals);
      } catch (error) {
        console.error(error);
      }
      folder = process.cwd();
      process.chdir("/");
      send({ call: order.call, status, first, images, tables });
      first = false;
    }
  })();
})();
