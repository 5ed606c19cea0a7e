// An identity provider on a free port of the loopback, for tests/support/provider.py.
//
// It is oidc-provider itself, with accounts that the test keeps: each line on standard input is the
// JSON of them, as {"ann": {"groups": ["engineers"]}}.  Who is not in it is disabled.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

// Standard output is for the test alone.
console.log = console.info = console.warn = console.error;
const tell = (line) => process.stdout.write(`${line}\n`);
const { Provider } = await import("oidc-provider");

const config = JSON.parse(process.argv[2] ?? "{}");
let accounts = config.accounts ?? {};

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "crabhook",
      token_endpoint_auth_method: "none",
      application_type: "native",
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      response_types: [],
      redirect_uris: [],
      id_token_signed_response_alg: config.algorithm ?? "RS256",
    },
  ],
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  conformIdTokenClaims: config.userinfo ?? false,
  ttl: { DeviceCode: config.lasts ?? 600 },
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
  findAccount: async (_ctx, id) =>
    accounts[id] && {
      accountId: id,
      claims: async () => ({ sub: id, preferred_username: id, ...accounts[id] }),
    },
});
// Without an interval a client waits five seconds between its questions.
provider.use(async (ctx, next) => {
  await next();
  if (ctx.oidc?.route === "device_authorization" && ctx.status === 200) {
    ctx.body = { ...ctx.body, interval: 0.2 };
  }
});
provider.on("server_error", (_ctx, error) => console.error(error));
server.on("request", provider.callback());

createInterface({ input: process.stdin })
  .on("line", (line) => {
    accounts = JSON.parse(line);
    tell("told");
  })
  .on("close", () => process.exit(0));
tell(issuer);
