// An authorization server that knows nothing of traintravel: npm's oidc-provider with
// JWT access tokens for whatever resource is asked for. It prints its issuer, and ends
// when its input does. The client program-ALG has tokens signed with ALG.
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const pairs = {
  RS256: ["rsa", { modulusLength: 2048 }],
  PS256: ["rsa", { modulusLength: 2048 }],
  ES256: ["ec", { namedCurve: "P-256" }],
  EdDSA: ["ed25519"],
};
const keys = Object.entries(pairs).map(([alg, [type, options]]) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: "jwk" }), alg, use: "sig", kid: `key of ${alg}`,
}));
const programs = Object.keys(pairs).map((alg) => ({
  client_id: `program-${alg}`, client_secret: "secret of a program", grant_types: ["client_credentials"], redirect_uris: [], response_types: [],
}));
const app = {
  client_id: "app", token_endpoint_auth_method: "none", application_type: "native", redirect_uris: ["http://127.0.0.1/back"],
  grant_types: ["authorization_code"], response_types: ["code"],
};

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [...programs, app],
    jwks: { keys },
    cookies: { keys: ["of a test"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource, client) => ({
          scope: "read write", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 600,
          jwt: { sign: { alg: client.clientId.split("-")[1] ?? "RS256" } },
        }),
      },
    },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.resume().on("end", () => process.exit());
