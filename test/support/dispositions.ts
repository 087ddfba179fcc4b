/** Dispositions that answers report, as the contract words them. */
export const NOTHING = { delivery: "not_delivered", retry: "safe" }
export const VERIFIED = { delivery: "delivered_verified", retry: "unsafe" }
