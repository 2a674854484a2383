// Starts and stops the server under test, and reads what it logs.
//
// The binary comes from ARMILLA_BIN, or is the debug build of this repository. Standard error goes to a file, so a
// line the server wrote before it answered is there when the answer is.

import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 30_000;
const ANSI = /\x1b\[[0-9;]*m/g;
const COMPLAINT = /^(?:\S+\s+)?(?:WARN|ERROR)\b|"level":"(?:WARN|ERROR)"|^thread .* panicked at/i;

function binary() {
  return process.env.ARMILLA_BIN || fileURLToPath(new URL("../../../target/debug/armilla", import.meta.url));
}

/** Makes a folder for one or more servers in turn; `remove` deletes it. */
export async function makeFolder() {
  const path = await mkdtemp(join(tmpdir(), "armilla-js-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** One server process on free ports, with its data folder and its log. */
export class Server {
  static #started = 0;

  /** Starts the process and waits for its ready line. */
  static async start(folder, ...flags) {
    const server = new Server();
    server.dataFolder = join(folder, "data");
    server.logFile = join(folder, `stderr-${Server.#started++}.log`);
    const log = openSync(server.logFile, "w");
    const command = ["--port", "0", "--data-dir", server.dataFolder, ...flags];
    server.process = spawn(binary(), command, {
      stdio: ["ignore", "pipe", log],
      // As many physical partitions as the throughput needs, so that a test says how many it has.
      env: { ARMILLA_INITIAL_PARTITION_RU: "10000", ARMILLA_MONGO_PORT: "0", ...process.env, NO_COLOR: "1" },
    });
    closeSync(log);
    server.exited = new Promise((resolve, reject) => {
      server.process.once("exit", (code, signal) => resolve(signal ?? code));
      server.process.once("error", reject);
    });
    const line = await server.#readyLine();
    const pairs = Object.fromEntries([...line.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));
    server.https = pairs.sql;
    server.port = Number(new URL(pairs.sql).port);
    server.http = `http://localhost:${server.port}/`;
    server.tables = pairs.table;
    server.storageTables = pairs.storage_table;
    server.mongoPort = Number(/:(\d+)\/?$/.exec(pairs.mongo ?? "")?.[1]);
    server.gremlinPort = Number(/:(\d+)\/?$/.exec(pairs.gremlin ?? "")?.[1]);
    return server;
  }

  #readyLine() {
    const lines = createInterface({ input: this.process.stdout });
    return new Promise((resolve, reject) => {
      const give_up = (why) => {
        this.process.kill("SIGKILL");
        reject(new Error(`no ready line: ${why}; stderr: ${this.logText()}`));
      };
      const timer = setTimeout(() => give_up("nothing for too long"), READY_MS_MAX);
      lines.on("line", (line) => {
        if (line.startsWith("armilla ready:")) {
          clearTimeout(timer);
          resolve(line);
        }
      });
      this.exited.then(
        (code) => (clearTimeout(timer), give_up(`ended with ${code}`)),
        (error) => (clearTimeout(timer), reject(error)),
      );
    });
  }

  /** The certificate to trust for https. */
  get certificate() {
    return readFileSync(this.certificateFile);
  }

  /** Where that certificate lies. */
  get certificateFile() {
    return join(this.dataFolder, "tls", "cert.pem");
  }

  /** Ends the process with a signal; returns its exit code, or the signal that ended it. */
  async stop(signal = "SIGTERM") {
    this.process.kill(signal);
    let timer;
    const tooLong = new Promise((_, reject) => {
      timer = setTimeout(() => {
        this.process.kill("SIGKILL");
        reject(new Error(`still running ${STOP_MS_MAX} ms after ${signal}`));
      }, STOP_MS_MAX);
    });
    try {
      return await Promise.race([this.exited, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  }

  logText() {
    return readFileSync(this.logFile, "utf8");
  }

  logLength() {
    return statSync(this.logFile).size;
  }

  /** The warnings, errors and panics logged after byte `since`. */
  complaints(since = 0) {
    const text = readFileSync(this.logFile).subarray(since).toString("utf8").replace(ANSI, "");
    return text.split("\n").filter((line) => COMPLAINT.test(line));
  }
}
