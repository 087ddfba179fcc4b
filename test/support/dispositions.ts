/** Dispositions that answers report, as the contract words them. */
export const NOTHING = { delivery: "not_delivered", retry: "safe" }
/** The system accepted the input, and its effect is unknown. */
export const SENT = { delivery: "delivered_unverified", retry: "unsafe" }
export const SENT_SAFELY = { delivery: "delivered_unverified", retry: "safe" }
export const VERIFIED = { delivery: "delivered_verified", retry: "unsafe" }
