export const REDACTED = '[redacted]'

/**
 * Shapes of credentials. Each pattern is linear: what repeats is bounded, begins where no other
 * match can begin, or cannot fail once it has begun.
 */
type Shape = readonly [pattern: RegExp, replacement: string]

/** What stands for itself, wherever it is: keys in PEM, addresses, headers. Looked for first. */
export const CONTEXT_SHAPES: readonly Shape[] = [
  [/-----BEGIN\s?[A-Z0-9 ]{0,40}PRIVATE KEY[\s\S]*?(?:-----END [^-]{0,64}-----|$)/g, REDACTED],
  [
    /\b(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/(?:v\d{1,3}\/)?webhooks\/|outlook\.office(?:365)?\.com\/webhook\/|webhook\.office\.com\/webhookb2\/|hooks\.zapier\.com\/hooks\/catch\/|api\.telegram\.org\/(?:file\/)?bot)[^\s"'<>\\]+/gi,
    `$1${REDACTED}`,
  ],
  [/(:\/\/)[^\s/:@"]{1,256}:x-oauth-basic@/g, `$1${REDACTED}@`],
  [
    /([?&](?:[\w-]{0,64}token|[\w-]{0,64}key|sig|signature|secret|password|code)=)[^&\s"'#<>]+/gi,
    `$1${REDACTED}`,
  ],
]

/** Credentials by their own look: prefixes that providers have chosen, and signed tokens. */
export const TOKEN_SHAPES: readonly Shape[] = [
  [/\b(bearer|basic)\s{1,8}[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [
    /(?<![A-Za-z0-9])(?:sk|pk|rk|gh[oprsu]|github_pat|gl(?:pat|ptt|dt|rt|soat|cbt|agent|ft|imt|oas)|xox[abeoprs]|xapp|dckr_[op]at|shp(?:at|ca|pa|ss)|sq0(?:atp|csp)|do[opr]_v1|lin_(?:api|oauth)|sntr(?:ys|yu)|nvapi|tvly|pplx|xai|GOCSPX|PMAK|NRAK|HRKU|tskey|rubygems|figd|rdme|pul|phx|fio-u)[-_][\w-]{16,}/g,
    REDACTED,
  ],
  [
    /(?<![A-Za-z0-9])(?:npm|hf|gsk|r8|glc|glsa|ntn|ops|vc[aikpr]|whsec|secret)_[A-Za-z0-9+/=]{20,}/g,
    REDACTED,
  ],
  [/(?<![A-Za-z0-9])(?:ya29|SG|hv[brs]|dp\.(?:pt|st|ct|sa|scim|audit)|sl)\.[\w.-]{20,}/g, REDACTED],
  [
    /(?<![A-Za-z0-9])(?:A3T[A-Z0-9]|A[BGKNRS][A-Z]A|ACCA|AIDA|AIPA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
    REDACTED,
  ],
  [/(?<![A-Za-z0-9])(?:LTAI|ATATT3|AKCp|ABSK|pypi-AgEI|dapi|1\/\/0)[\w=-]{20,}/g, REDACTED],
  [/(?<![A-Za-z0-9])AGE-SECRET-KEY-1[A-Z0-9]{20,}/g, REDACTED],
  [/(?<![A-Za-z0-9])A3-[A-Z0-9]{6}-[A-Z0-9-]{20,40}/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/(?<![A-Za-z0-9])eyJ[\w-]{8,384}\.[\w-]{8,}(?:\.[\w-]*){0,3}/g, REDACTED],
  [/(?<![A-Za-z0-9])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}/g, REDACTED],
  [/(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{32,34}(?![\w-])/g, REDACTED],
]
